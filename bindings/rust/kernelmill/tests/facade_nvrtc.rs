//! Compilations of the facade.

use std::ffi::CStr;

use kernelmill::nvrtc::result::{
    NvrtcError, compile_program, create_program, destroy_program, get_program_log, get_ptx,
};
use kernelmill::nvrtc::sys::nvrtcResult;
use kernelmill::nvrtc::{CompileError, CompileOptions, Ptx, compile_ptx, compile_ptx_with_opts};

type Tested = Result<(), Box<dyn std::error::Error>>;

const SOURCE: &str = "
    #ifndef N
    #define N 3
    #endif
    extern \"C\" __global__ void scale(float* x) { x[threadIdx.x] = x[threadIdx.x] / N + 1e-40f; }";

#[test]
fn sources_become_ptx() -> Tested {
    let ptx = compile_ptx(SOURCE)?;
    assert!(ptx.to_src().contains(".entry scale"));
    assert_eq!(ptx.as_bytes(), Some(ptx.to_src().as_bytes()));
    Ok(())
}

#[test]
fn options_reach_the_compiler() -> Tested {
    let options = CompileOptions {
        ftz: Some(true),
        options: vec!["-DN=5".into()],
        maxrregcount: Some(32),
        arch: Some("compute_80"),
        name: Some("scale.cu".into()),
        ..Default::default()
    };
    let ptx = compile_ptx_with_opts(SOURCE, options)?.to_src();
    for part in [".target sm_80", "div.rn.ftz.f32", "0f40A00000"] {
        assert!(ptx.contains(part), "{part} in:\n{ptx}");
    }
    let fast = CompileOptions { use_fast_math: Some(true), ..Default::default() };
    let ptx = compile_ptx_with_opts(SOURCE, fast)?.to_src();
    assert!(ptx.contains(".ftz.f32") && !ptx.contains("div.rn"), "{ptx}");
    Ok(())
}

#[test]
fn errors_have_the_compilers_log() {
    let options =
        CompileOptions { name: Some("wrong.cu".into()), fmad: Some(false), ..Default::default() };
    let error = compile_ptx_with_opts("__global__ void k() { nothing(); }", options);
    let Err(CompileError::CompileError { nvrtc, options, log }) = &error else {
        panic!("{error:?}");
    };
    assert_eq!(*nvrtc, NvrtcError(nvrtcResult::NVRTC_ERROR_COMPILATION));
    assert_eq!(options, &["--fmad=false"]);
    let log = log.to_string_lossy();
    assert!(log.contains("wrong.cu(1)") && log.contains("nothing"), "{log}");
    let text = error.expect_err("an error").to_string();
    assert!(text.contains("--fmad=false") && text.contains("nothing"), "{text}");
}

#[test]
fn texts_with_a_zero_are_errors() {
    let error = compile_ptx_with_opts(
        "",
        CompileOptions { name: Some("a\0b".into()), ..Default::default() },
    );
    assert!(matches!(error, Err(CompileError::CreationError(_))), "{error:?}");
    let error = compile_ptx_with_opts(
        "",
        CompileOptions { options: vec!["-D\0".into()], ..Default::default() },
    );
    assert!(matches!(error, Err(CompileError::CompileError { .. })), "{error:?}");
}

#[test]
fn ptx_comes_from_texts_files_and_bytes() -> Tested {
    let file = std::env::temp_dir().join(format!("km_facade_{}.ptx", std::process::id()));
    std::fs::write(&file, "// a file")?;
    assert_eq!(Ptx::from_file(&file).to_src(), "// a file");
    std::fs::remove_file(&file)?;
    assert_eq!(Ptx::from_file(&file).to_src(), "");
    assert!(Ptx::from_file(&file).as_bytes().is_none());
    assert_eq!(Ptx::from("// a text").to_src(), "// a text");
    assert_eq!(Ptx::from_binary(vec![1, 2]).as_bytes(), Some(&[1u8, 2][..]));
    Ok(())
}

#[test]
fn programs_are_compiled_call_by_call() -> Tested {
    let program = create_program(c"extern \"C\" __global__ void kernel() {}", Some(c"k.cu"))?;
    // SAFETY: the program is this test's own.
    unsafe {
        compile_program(program, &["--ftz=true", "--fmad=true"])?;
        let ptx = get_ptx(program)?;
        let text = CStr::from_ptr(ptx.as_ptr()).to_str()?;
        assert!(text.contains(".entry kernel") && text.len() + 1 == ptx.len());
        assert!(!get_program_log(program)?.is_empty());
        destroy_program(program)?;
        assert_eq!(get_ptx(program), Err(NvrtcError(nvrtcResult::NVRTC_ERROR_INVALID_PROGRAM)));
    }
    let broken = create_program(c"extern \"C\" __global__ void kernel(", None)?;
    // SAFETY: the program is this test's own.
    let error = unsafe { compile_program::<&str>(broken, &[]) }.expect_err("a broken source");
    assert_eq!(error, NvrtcError(nvrtcResult::NVRTC_ERROR_COMPILATION));
    assert_eq!(nvrtcResult::from_number(6).result(), Err(error));
    // SAFETY: the same.
    unsafe { destroy_program(broken) }?;
    assert!(create_program(c"\xff", None).is_err());
    Ok(())
}
