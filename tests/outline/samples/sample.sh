#!/bin/bash
foo() {
  cat <<EOF
fake() {
}
EOF
  if true; then echo; fi
}
function bar {
  x=$((1<<N))
  baz() { echo one; }
}
one() { echo; }
sub() (
  cd /
)
# fake2() {
