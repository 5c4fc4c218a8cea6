# fish completion for kernelmill(1)

set -l commands info run kernels compile corpus trace exec check tune wrap setup help
complete -c kernelmill -f
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a info \
    -d "Say what this machine can run"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a run \
    -d "Run a kernel on data from files"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a compile \
    -d "Compile CUDA C++ to PTX"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a corpus \
    -d "Try all kernels below a folder"
complete -c kernelmill -s h -l help -d "Explain the command"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -l version \
    -d "Print the version"

set -l info "__fish_seen_subcommand_from info"
complete -c kernelmill -n $info -l json -d "Print everything as JSON"
complete -c kernelmill -n $info -s v -l verbose -d "Say also what was tried"
complete -c kernelmill -n $info -l env -d "Print the environment variables only"

set -l corpus "__fish_seen_subcommand_from corpus"
complete -c kernelmill -n $corpus -a "(__fish_complete_directories)"
complete -c kernelmill -n $corpus -l json -d "Print everything found out, as JSON"
complete -c kernelmill -n $corpus -s v -l verbose -d "Name every file and kernel that fails"
complete -c kernelmill -n $corpus -s d -l device -x -a "cpu cuda" -d "Device"
complete -c kernelmill -n $corpus -l block -x -d "Threads per block to make code for"
complete -c kernelmill -n $corpus -s j -l jobs -x -d "Files at the same time"
complete -c kernelmill -n $corpus -l seconds -x -d "Time limit per file"

set -l trace "__fish_seen_subcommand_from trace"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a trace \
  -d "Run a program and record what it does"
complete -c kernelmill -n $trace -s o -l output -r -d "Where the trace goes"
complete -c kernelmill -n $trace -l lines -d "Add to the report what becomes of each line"
complete -c kernelmill -n $trace -l counters -d "Count what warps do, and print it at the end"

set -l tune "__fish_seen_subcommand_from tune"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a tune \
  -d "Find the fastest launch of a kernel"
complete -c kernelmill -n $tune -a "(__fish_complete_suffix .cu; __fish_complete_suffix .ptx)"
complete -c kernelmill -n $tune -s k -l kernel -x -d "The kernel"
complete -c kernelmill -n $tune -s t -l threads -x -d "Threads in all"
complete -c kernelmill -n $tune -s b -l block -x -d "A block shape to try"
complete -c kernelmill -n $tune -l vary -x -d "Values of a macro to try"
complete -c kernelmill -n $tune -l shared -x -d "Dynamic shared memory per block"
complete -c kernelmill -n $tune -s a -l arg -x -d "A kernel argument"
complete -c kernelmill -n $tune -l check -d "Compare results"
complete -c kernelmill -n $tune -l tolerance -x -d "Allowed difference of f32 results"
complete -c kernelmill -n $tune -l budget -x -d "Milliseconds for all measurements"
complete -c kernelmill -n $tune -l problem -x -d "What the choice is remembered under"
complete -c kernelmill -n $tune -l again -d "Measure, whatever is remembered"
complete -c kernelmill -n $tune -s d -l device -x -a "auto cpu cuda" -d "Device"
complete -c kernelmill -n $tune -l json -d "Print the results as JSON"

set -l both "__fish_seen_subcommand_from run kernels compile corpus tune"
complete -c kernelmill -n $both -l arch -x -d "Virtual architecture to compile for"
complete -c kernelmill -n $both -s D -l define -x -d "Define a macro"
complete -c kernelmill -n $both -s I -l include -x -a "(__fish_complete_directories)" \
    -d "Search a folder for headers"
complete -c kernelmill -n $both -l nvrtc -x -d "Pass an option on to NVRTC"

set -l run "__fish_seen_subcommand_from run"
complete -c kernelmill -n $run -a "(__fish_complete_suffix .cu; __fish_complete_suffix .ptx)"
complete -c kernelmill -n $run -s k -l kernel -x -d "The kernel"
complete -c kernelmill -n $run -s g -l grid -x -d "Blocks"
complete -c kernelmill -n $run -s b -l block -x -d "Threads per block"
complete -c kernelmill -n $run -l shared -x -d "Dynamic shared memory per block"
complete -c kernelmill -n $run -s a -l arg -x \
    -a "in: out: inout: zeros: print: i32: u32: i64: u64: f16: bf16: f32: f64: i8: u8: i16: u16:" \
    -d "A kernel argument"
complete -c kernelmill -n $run -l check -x -a "memory init race sync streams leak all" -d "Look for defects"
complete -c kernelmill -n $run -l check-kernel -x -d "Only these kernels"
complete -c kernelmill -n $run -l check-suppress -r -d "Rules of findings to leave out"
complete -c kernelmill -n $run -l check-write-suppressions -r -d "Rules for all findings"
complete -c kernelmill -n $run -l check-json -r -d "Findings as JSON"
complete -c kernelmill -n $run -l check-sarif -r -d "Findings as SARIF"
complete -c kernelmill -n $run -l check-error-exit -x -d "Exit status if something was found"
complete -c kernelmill -n $run -l check-format -x -a "text compute-sanitizer" -d "Form of the text"
complete -c kernelmill -n $run -l check-log-file -r -d "Where the text goes"
complete -c kernelmill -n $run -l check-limit -x -d "Most findings shown"
complete -c kernelmill -n $run -l check-same-value -d "Also writes of one value"
complete -c kernelmill -n $run -l check-warp-in-step -d "Run the lanes of a warp in step"
complete -c kernelmill -n $run -l check-explore -x -d "Compare results in other orders"
complete -c kernelmill -n $run -l check-schedule-seed -x -d "The order of this seed"
complete -c kernelmill -n $run -l check-ignore-atomic-order -d "Accept sums that depend on the order"
complete -c kernelmill -n $run -s d -l device -x -a "auto cpu cuda" -d "Device"
complete -c kernelmill -n $run -l repeat -x -d "Launch this often"
complete -c kernelmill -n $run -s q -l quiet -d "Print no times"
complete -c kernelmill -n $run -l json -d "Print times and outputs as JSON"

set -l kernels "__fish_seen_subcommand_from kernels"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a kernels \
    -d "List the kernels of a file"
complete -c kernelmill -n $kernels -a "(__fish_complete_suffix .cu; __fish_complete_suffix .ptx)"
complete -c kernelmill -n $kernels -l json -d "Print the list as JSON"
complete -c kernelmill -n $kernels -l instantiate -x -d "List an instance of a template"
complete -c kernelmill -n $kernels -s d -l device -x -a "cpu cuda" -d "Whose resources are shown"
complete -c kernelmill -n $kernels -l emit -x -a "spirv glsl essl msl hlsl wgsl" \
    -d "Write a kernel as a shader"
complete -c kernelmill -n $kernels -l kernel -x -d "The kernel of --emit"
complete -c kernelmill -n $kernels -s b -l block -x -d "Block size of --emit"
complete -c kernelmill -n $kernels -l shared -x -d "Dynamic shared memory of --emit"
complete -c kernelmill -n $kernels -l arena -d "With --emit: memory is one buffer"
complete -c kernelmill -n $kernels -s o -l output -r -d "File for --emit"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a help \
    -d "Explain a command"
complete -c kernelmill -n "__fish_seen_subcommand_from help" \
    -a "info run kernels compile corpus trace exec check tune wrap setup"

set -l compile "__fish_seen_subcommand_from compile"
complete -c kernelmill -n $compile -a "(__fish_complete_suffix .cu)"
complete -c kernelmill -n $compile -s o -l output -r -d "Where the result goes"
complete -c kernelmill -n $compile -l target -x -a "ptx cpu" -d "What to compile for"
complete -c kernelmill -n $compile -s b -l block -x -d "A block size to make code for"
complete -c kernelmill -n $compile -l isa -x -a "x86-64-v2 avx2 avx512 neon" \
    -d "Vector instruction set"
complete -c kernelmill -n $compile -l instantiate -x -d "Instantiate a template kernel"

set -l exec "__fish_seen_subcommand_from exec"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a exec \
    -d "Run a program that uses the CUDA driver, without a GPU"
complete -c kernelmill -n $exec -l devices -x -d "How many devices"
complete -c kernelmill -n $exec -l cc -x -d "Compute capability"
complete -c kernelmill -n $exec -l memory -x -d "Memory of the devices"
complete -c kernelmill -n $exec -l unchecked -d "Full speed"
complete -c kernelmill -n $exec -l no-replace -x -d "Leave a library in place"
complete -c kernelmill -n $exec -l log -d "Show every call"
complete -c kernelmill -n $exec -l trace -r -d "Where the trace goes"
complete -c kernelmill -n $exec -l counters -d "Count what warps do, and print it at the end"

set -l check "__fish_seen_subcommand_from check"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a check \
    -d "Find defects of a program's kernels, without a GPU"
complete -c kernelmill -n $check -l tool -x -a "memory init race sync streams leak all" -d "What to look for"
complete -c kernelmill -n $check -l kernel -x -d "Only these kernels"
complete -c kernelmill -n $check -l suppress -r -d "Rules of findings to leave out"
complete -c kernelmill -n $check -l write-suppressions -r -d "Rules for all findings"
complete -c kernelmill -n $check -l json -r -d "Findings as JSON"
complete -c kernelmill -n $check -l sarif -r -d "Findings as SARIF"
complete -c kernelmill -n $check -l error-exit -x -d "Exit status if something was found"
complete -c kernelmill -n $check -l format -x -a "text compute-sanitizer" -d "Form of the text"
complete -c kernelmill -n $check -l log-file -r -d "Where the text goes"
complete -c kernelmill -n $check -l limit -x -d "Most findings shown"
complete -c kernelmill -n $check -l same-value -d "Also writes of one value"
complete -c kernelmill -n $check -l warp-in-step -d "Run the lanes of a warp in step"
complete -c kernelmill -n $check -l explore -x -d "Compare results in other orders"
complete -c kernelmill -n $check -l schedule-seed -x -d "The order of this seed"
complete -c kernelmill -n $check -l ignore-atomic-order -d "Accept sums that depend on the order"
complete -c kernelmill -n $check -l devices -x -d "How many devices"
complete -c kernelmill -n $check -l cc -x -d "Compute capability"
complete -c kernelmill -n $check -l memory -x -d "Memory of the devices"
complete -c kernelmill -n $check -l no-replace -x -d "Leave a library in place"
complete -c kernelmill -n $check -l log -d "Show every call"
complete -c kernelmill -n $check -l trace -r -d "Where the trace goes"
complete -c kernelmill -n $check -l counters -d "Count what warps do, and print it at the end"

set -l wrap "__fish_seen_subcommand_from wrap"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a wrap \
    -d "Write typed functions that launch kernels"
complete -c kernelmill -n $wrap -a "(__fish_complete_suffix .cu; __fish_complete_suffix .ptx)"
complete -c kernelmill -n $wrap -l lang -x -a "c cpp rust go zig" -d "The language"
complete -c kernelmill -n $wrap -s o -l output -r -d "Where the wrapper goes"
complete -c kernelmill -n $wrap -l name -x -d "Name of the module"
complete -c kernelmill -n $wrap -l instantiate -x -d "Wrap an instance of a template"
complete -c kernelmill -n $wrap -l object -d "Embed object code as well"
complete -c kernelmill -n $wrap -s b -l block -x -d "Block size to make code for"

set -l setup "__fish_seen_subcommand_from setup"
complete -c kernelmill -n "not __fish_seen_subcommand_from $commands" -a setup \
  -d "Bring NVRTC, which compiles CUDA C++"
complete -c kernelmill -n $setup -l check -d "Only say which NVRTC is found"
complete -c kernelmill -n $setup -l force -d "Bring it even if one is found"
complete -c kernelmill -n $setup -s y -l yes -d "Remove what lies in its folder without asking"
complete -c kernelmill -n $setup -l from -x -a "(__fish_complete_directories)" \
  -d "Take the packages from a folder"
complete -c kernelmill -n $setup -l offline -d "Say how to bring it without a network"
complete -c kernelmill -n $setup -l list -d "Print the packages with their checksums"
