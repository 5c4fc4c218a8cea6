//! Arguments as they lie in memory.

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
fn bytes_at<const N: usize>(launch: &LaunchBuilder<'_>, offset: usize) -> [u8; N] {
    let arguments = launch.node_arguments().unwrap();
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
    assert_eq!(bytes_at(&launch, 0), [7]);
    assert_eq!(bytes_at(&launch, 2), (-2i16).to_ne_bytes());
    assert_eq!(bytes_at(&launch, 4), 3u32.to_ne_bytes());
    assert_eq!(bytes_at(&launch, 8), 4.5f64.to_ne_bytes());
    assert_eq!(bytes_at(&launch, 20), 2f32.to_ne_bytes());
    assert_eq!(bytes_at(&launch, 24), 3i32.to_ne_bytes());
    assert_eq!(bytes_at(&launch, 28), [9]);
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
    for count in [0, 1, 15, 16, 17, 500] {
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
        let moved = launch; // the arguments go along
        for index in (0..count).filter(|index| index % 3 != 1) {
            assert_eq!(bytes_at(&moved, 8 * index), (index as u64).to_ne_bytes());
        }
        assert_eq!(moved.operands().len(), (count + 1) / 3);
    }
}
