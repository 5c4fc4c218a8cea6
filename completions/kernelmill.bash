# bash completion for kernelmill(1)

_kernelmill_arg() {
  local cur=$1
  case $cur in
    in:* | inout:* | out:*)
      # Readline splits words at colons, so the file alone is completed.
      local path=${cur#*:}
      mapfile -t COMPREPLY < <(compgen -f -X '!*.@(npy|png|jpg|jpeg)' -- "$path"; compgen -d -S / -- "$path")
      compopt -o nospace
      ;;
    *)
      mapfile -t COMPREPLY < <(compgen -W 'in: out: inout: zeros: print: i32: u32: i64: u64: f32:
        f64: f16: bf16: i8: u8: i16: u16:' -- "$cur")
      compopt -o nospace
      ;;
  esac
}

_kernelmill() {
  local cur prev words cword
  _init_completion -n := || return
  local command=${words[1]:-}
  if ((cword == 1)); then
    mapfile -t COMPREPLY < <(compgen -W 'info run kernels compile corpus trace exec check tune wrap setup help --help --version' \
      -- "$cur")
    return
  fi
  case $prev in
    -a | --arg) _kernelmill_arg "$cur"; __ltrim_colon_completions "$cur"; return ;;
    -d | --device)
      mapfile -t COMPREPLY < <(compgen -W 'auto cpu cuda' -- "$cur")
      return
      ;;
    -I | --include) _filedir -d; return ;;
    -o | --output) _filedir ptx; return ;;
    -k | --kernel | -g | --grid | -b | --block | --shared | --repeat | --arch | -D | --define | \
      --instantiate | --nvrtc | --jobs | --seconds | --threads | --vary | --tolerance | --budget | \
      --problem) return ;;
  esac
  local common='--help --arch --define --include --nvrtc'
  case $command:$cur in
    info:*) mapfile -t COMPREPLY < <(compgen -W '--help --verbose --json --env' -- "$cur") ;;
    setup:*)
      mapfile -t COMPREPLY < <(compgen -W '--help --check --force --yes --from --offline --list' -- "$cur")
      ;;
    run:-*)
      mapfile -t COMPREPLY < <(compgen -W "$common --kernel --grid --block --shared --arg --device
        --repeat --quiet --json --check --check-kernel --check-suppress --check-write-suppressions
        --check-json --check-sarif --check-error-exit --check-format --check-log-file --check-limit
        --check-same-value --check-warp-in-step --check-explore --check-schedule-seed
        --check-ignore-atomic-order" -- "$cur")
      ;;
    run:*) _filedir '@(cu|ptx)' ;;
    help:*)
      mapfile -t COMPREPLY < <(compgen -W 'info run kernels compile corpus trace exec check tune wrap setup' \
        -- "$cur")
      ;;
    kernels:-*)
      mapfile -t COMPREPLY < <(compgen -W "$common --json --instantiate --device --emit --kernel --block --shared --arena --output" -- "$cur")
      ;;
    kernels:*) _filedir '@(cu|ptx|kmo)' ;;
    compile:-*) mapfile -t COMPREPLY < <(compgen -W "$common --output --target --block --isa --instantiate" -- "$cur") ;;
    compile:*) _filedir cu ;;
    corpus:-*)
      mapfile -t COMPREPLY < <(compgen -W "$common --json --verbose --device --block --jobs --seconds" \
        -- "$cur")
      ;;
    corpus:*) _filedir -d ;;
    trace:-*) mapfile -t COMPREPLY < <(compgen -W '--help --output --counters --lines' -- "$cur") ;;
    trace:*) _filedir ;;
    exec:-*)
      mapfile -t COMPREPLY < <(compgen -W '--help --devices --cc --memory --unchecked --no-replace --log
        --trace --counters' -- "$cur")
      ;;
    exec:*) _filedir ;;
    check:-*)
      mapfile -t COMPREPLY < <(compgen -W '--help --tool --kernel --suppress --write-suppressions --json --sarif --error-exit
        --format --log-file --limit --same-value --warp-in-step --explore --schedule-seed --ignore-atomic-order
        --devices --cc --memory --no-replace --log --trace --counters' -- "$cur")
      ;;
    check:*) _filedir ;;
    tune:-*)
      mapfile -t COMPREPLY < <(compgen -W "$common --kernel --threads --block --vary --shared --arg
        --check --tolerance --budget --problem --again --device --json" -- "$cur")
      ;;
    tune:*) _filedir '@(cu|ptx)' ;;
    wrap:-*)
      mapfile -t COMPREPLY < <(compgen -W "$common --lang --output --name --instantiate --object --block" -- "$cur")
      ;;
    wrap:*) _filedir '@(cu|ptx)' ;;
  esac
}

complete -F _kernelmill kernelmill
