# shellcheck shell=bash
# Sourced: `duration` prints the seconds since the script began as "3 min 05 s".
duration() {
  if ((SECONDS >= 60)); then
    printf '%d min %02d s' $((SECONDS / 60)) $((SECONDS % 60))
  else
    printf '%d s' "$SECONDS"
  fi
}
