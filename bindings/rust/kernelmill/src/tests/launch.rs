//! Arguments as they lie in memory.

use crate::launch::NodeArguments;
use crate::view::Place;
use crate::{Function, LaunchBuilder, Pod, View, ViewMut, sys};

#[derive(Clone, Copy)]
#[repr(C)]
struct Point {
    x: f32,
    y: f32,
    tag: i32,
}
// SAFETY: three numbers of 4 bytes.
unsafe impl Pod for Point {}

fn place(number: usize) -> Place {
    Place { slice: std::ptr::without_provenance_mut(number), offset_bytes: 8, len: 3 }
}

/// The bytes of the arguments from an offset on.
fn bytes_at<const N: usize>(arguments: &NodeArguments, offset: usize) -> [u8; N] {
    assert!(offset + N <= arguments.size_bytes as usize);
    // SAFETY: a value was written there.
    unsafe { arguments.words.cast::<[u8; N]>().byte_add(offset).read_unaligned() }
}

#[test]
fn values_lie_where_the_parameters_are() {
    let function = Function::of_params(&[(1, 0), (2, 2), (4, 4), (8, 8), (12, 16), (1, 28)]);
    let mut launch = LaunchBuilder::without_stream(&function);
    launch.arg(&7u8).arg(&-2i16).arg(&3u32).arg(&4.5f64);
    launch.arg(&Point { x: 1.0, y: 2.0, tag: 3 }).arg(&9u8);
    let arguments = launch.node_arguments().unwrap();
    assert_eq!(bytes_at(&arguments, 0), [7]);
    assert_eq!(bytes_at(&arguments, 2), (-2i16).to_ne_bytes());
    assert_eq!(bytes_at(&arguments, 4), 3u32.to_ne_bytes());
    assert_eq!(bytes_at(&arguments, 8), 4.5f64.to_ne_bytes());
    assert_eq!(bytes_at(&arguments, 20), 2f32.to_ne_bytes());
    assert_eq!(bytes_at(&arguments, 24), 3i32.to_ne_bytes());
    assert_eq!(bytes_at(&arguments, 28), [9]);
}

#[test]
fn slices_are_operands() {
    let function = Function::of_params(&[(8, 0), (4, 8), (8, 16)]);
    let (source, mut destination) = (View::<u32>::new(place(5)), ViewMut::<u16>::new(place(6)));
    let mut launch = LaunchBuilder::without_stream(&function);
    launch.arg(&source).arg(&1u32).arg(&mut destination);
    let slices = launch.node_arguments().unwrap().slices;
    let seen: Vec<_> = slices.iter().map(|one| (one.parameter, one.slice)).collect();
    assert_eq!(seen, [(0, 5), (2, 6)]);
    let accesses: Vec<_> =
        launch.operands().iter().map(|operand| (operand.access, operand.size_bytes)).collect();
    assert_eq!(accesses, [(sys::km_access::READ, 12), (sys::km_access::READ_WRITE, 6)]);
}

/// Kernels of up to 16 words of arguments need no memory; others do.
#[test]
fn kernels_of_any_size_take_their_arguments() {
    for count in [0, 1, 15, 16, 17, 100] {
        let params: Vec<_> = (0..count).map(|index| (8, 8 * index)).collect();
        let function = Function::of_params(&params);
        let slice = View::<u32>::new(place(5));
        let mut launch = LaunchBuilder::without_stream(&function);
        for index in 0..count {
            if index % 3 == 1 {
                launch.arg(&slice)
            } else {
                launch.arg(&(index as u64))
            };
        }
        let mut moved = launch; // the arguments go along
        let arguments = moved.node_arguments().unwrap();
        for index in (0..count).filter(|index| index % 3 != 1) {
            assert_eq!(bytes_at(&arguments, 8 * index), (index as u64).to_ne_bytes());
        }
        assert_eq!(moved.operands().len(), (count + 1) / 3);
    }
}

/// Vectors of CUDA are aligned to their size, arrays to their elements'.
#[test]
fn values_are_moved_to_where_their_parameters_are() {
    let vector = [1.0f32, 2.0, 3.0, 4.0];
    let function = Function::of_params(&[(4, 0), (16, 16), (1, 32), (8, 40), (2, 48)]);
    let slice = View::<u32>::new(place(5));
    let mut launch = LaunchBuilder::without_stream(&function);
    launch.arg(&5u32).arg(&vector).arg(&6u8).arg(&slice).arg(&-7i16);
    for round in 0..2 {
        let arguments = launch.node_arguments().unwrap();
        assert_eq!(bytes_at(&arguments, 0), 5u32.to_ne_bytes(), "round {round}");
        assert_eq!(bytes_at(&arguments, 16), 1f32.to_ne_bytes());
        assert_eq!(bytes_at(&arguments, 28), 4f32.to_ne_bytes());
        assert_eq!(bytes_at(&arguments, 32), [6]);
        assert_eq!(bytes_at(&arguments, 48), (-7i16).to_ne_bytes());
        let slices: Vec<_> =
            arguments.slices.iter().map(|one| (one.parameter, one.slice)).collect();
        assert_eq!(slices, [(3, 5)]);
    }
    // Beyond the first words only as the kernel has them, only as they are given, and both.
    for (count, alignment) in [(7, 16), (9, 4), (40, 4), (40, 16)] {
        let stride = if alignment == 16 { 32 } else { 20 };
        let params: Vec<_> = (0..count)
            .flat_map(|index| [(4, stride * index), (16, stride * index + alignment)])
            .collect();
        let function = Function::of_params(&params);
        let mut launch = LaunchBuilder::without_stream(&function);
        for index in 0..count {
            launch.arg(&(index as u32)).arg(&vector);
        }
        let arguments = launch.node_arguments().unwrap();
        for index in 0..count {
            let at = stride * index;
            assert_eq!(bytes_at(&arguments, at), (index as u32).to_ne_bytes());
            assert_eq!(bytes_at(&arguments, at + alignment + 8), 3f32.to_ne_bytes());
        }
    }
}

#[test]
fn arguments_are_compared_with_the_parameters() {
    let function = Function::of_params(&[(8, 0), (4, 8), (4, 12)]);
    let said = |add: &dyn Fn(&mut LaunchBuilder<'_>)| {
        let mut launch = LaunchBuilder::without_stream(&function);
        add(&mut launch);
        launch.check().unwrap_err()
    };
    assert_eq!(said(&|_| ()), "has 3 parameters; 0 arguments given");
    let too_few = said(&|launch| _ = launch.arg(&1u64).arg(&2u32));
    assert_eq!(too_few, "has 3 parameters; 2 arguments given");
    let too_many = said(&|launch| _ = launch.arg(&1u64).arg(&2u32).arg(&3u32).arg(&4u8));
    assert_eq!(too_many, "has 3 parameters; more arguments were given");
    let too_wide = said(&|launch| _ = launch.arg(&1u64).arg(&2u64).arg(&3u32));
    assert_eq!(too_wide, "takes 4 bytes for parameter 1; 8 were given");
    let halves = said(&|launch| _ = launch.arg(&1u32).arg(&2u32).arg(&3u32).arg(&4u32));
    let advice = "takes 8 bytes for parameter 0; 4 were given";
    assert_eq!(halves, advice);
    let nothing = said(&|launch| _ = launch.arg(&1u64).arg::<&[f32; 0]>(&[]).arg(&3u32));
    assert_eq!(nothing, "takes 4 bytes for parameter 1; 0 were given");
    let large = said(&|launch| _ = launch.arg(&1u64).arg(&2u32).arg(&[0u8; 400]));
    assert_eq!(large, "takes 4 bytes for parameter 2; 400 were given");
    for count in [16, 17, 200] {
        let places = said(&|launch| (0..count).for_each(|_| _ = launch.arg(&1u64)));
        assert_eq!(places, "takes 4 bytes for parameter 1; 8 were given");
    }
}
