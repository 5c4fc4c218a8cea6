//! Sobel edges of a photograph, on whatever device there is: sobel INPUT.png OUTPUT.pgm

use std::error::Error;
use std::fs::{self, File};
use std::io::BufReader;
use std::process::ExitCode;

use kernelmill::{Context, LaunchConfig};

#[path = "generated/sobel.rs"]
#[rustfmt::skip]
mod kernels;

const TILE: u32 = 16;

struct Grey {
    width: u32,
    height: u32,
    pixels: Vec<u8>,
}

fn read_grey(path: &str) -> Result<Grey, Box<dyn Error>> {
    let mut decoder = png::Decoder::new(BufReader::new(File::open(path)?));
    decoder.set_transformations(png::Transformations::normalize_to_color8());
    let mut reader = decoder.read_info()?;
    let mut bytes = vec![0; reader.output_buffer_size().ok_or("the picture is too large")?];
    let info = reader.next_frame(&mut bytes)?;
    let luma = |p: &[u8]| {
        ((77 * u32::from(p[0]) + 150 * u32::from(p[1]) + 29 * u32::from(p[2]) + 128) >> 8) as u8
    };
    let channels = info.color_type.samples();
    if channels < 3 {
        return Err("expected a picture in colours".into());
    }
    let pixels = bytes.chunks_exact(channels).map(luma).collect();
    Ok(Grey { width: info.width, height: info.height, pixels })
}

fn sobel(picture: &Grey) -> kernelmill::Result<Vec<u8>> {
    let context = Context::open("auto")?;
    let stream = context.default_stream()?;
    let kernels = kernels::Kernels::load(&context)?;
    let input = stream.clone_htod(&picture.pixels)?;
    let mut output = stream.alloc::<u8>(picture.pixels.len())?;
    let (width, height) = (picture.width as i32, picture.height as i32);
    let config = LaunchConfig {
        grid_dim: (picture.width.div_ceil(TILE), picture.height.div_ceil(TILE), 1),
        block_dim: (TILE, TILE, 1),
        shared_mem_bytes: 0,
    };
    // SAFETY: the kernel reads and writes width x height bytes, which both slices have.
    unsafe { kernels.sobel(&stream, config, &input, &mut output, width, height) }?;
    stream.clone_dtoh(&output)
}

fn run(input: &str, output: &str) -> Result<(), Box<dyn Error>> {
    let picture = read_grey(input)?;
    let mut file = format!("P5\n{} {}\n255\n", picture.width, picture.height).into_bytes();
    file.extend(sobel(&picture)?);
    Ok(fs::write(output, file)?)
}

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let result = match &arguments[..] {
        [input, output] => run(input, output),
        _ => Err("usage: sobel INPUT.png OUTPUT.pgm".into()),
    };
    result.map_or_else(
        |error| {
            eprintln!("sobel: {error}");
            ExitCode::FAILURE
        },
        |()| ExitCode::SUCCESS,
    )
}
