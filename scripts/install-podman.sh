#!/usr/bin/env bash
# Rootless Podman and a user without rights to run it, for the tests of the writers' boundary (docs/boundary.md).
# Debian; as root. May be run again: it changes only what is missing, and says what it could not do.
# Ends with 0 when everything is there. Without it those tests skip themselves by name.
set -uo pipefail
export DEBIAN_FRONTEND=noninteractive

USER_NAME=${PI_WRITER_TEST_USER:-pi-writer-test}
missing=0

say() { printf '%s\n' "$*"; }
lacks() { say "$1: MISSING${2:+ ($2)}"; missing=1; }

if [ "$(id -u)" != 0 ]; then
  say "install-podman: not root, nothing is installed; what is there is only looked at"
fi

install_package() {
  local tool=$1 package=$2
  PATH="$PATH:/usr/sbin:/sbin"
  if command -v "$tool" >/dev/null; then say "$tool: there"; return; fi
  if [ "$(id -u)" = 0 ] && command -v apt-get >/dev/null &&
    apt-get install -y -qq --no-install-recommends "$package" >/dev/null 2>&1; then
    say "$tool: installed ($package)"
  else
    lacks "$tool" "package $package"
  fi
}

# runc besides Podman's default crun, which refuses the hybrid cgroups of some machines; the probe finds what works.
install_package podman podman
install_package runc runc
install_package newuidmap uidmap
# The only user-mode network that Podman 4.3 has.
install_package slirp4netns slirp4netns

# useradd gives a range of subordinate ids by itself, unless login.defs says otherwise.
if id "$USER_NAME" >/dev/null 2>&1; then
  say "user $USER_NAME: there"
elif [ "$(id -u)" = 0 ] && useradd --create-home --shell /bin/sh "$USER_NAME"; then
  say "user $USER_NAME: made"
else
  lacks "user $USER_NAME"
fi

for file in /etc/subuid /etc/subgid; do
  if grep -q "^$USER_NAME:" "$file" 2>/dev/null; then say "$file: has a range"; continue; fi
  option=--add-subuids
  [ "$file" = /etc/subgid ] && option=--add-subgids
  # Behind every range that is there.
  first=$(awk -F: '{ end = $2 + $3 } end > next_ { next_ = end } END { print (next_ > 100000 ? next_ : 100000) }' "$file" 2>/dev/null)
  first=${first:-100000}
  if [ "$(id -u)" = 0 ] && usermod "$option" "$first-$((first + 65535))" "$USER_NAME" 2>/dev/null; then
    say "$file: range added"
  else
    lacks "$file" "a range for $USER_NAME"
  fi
done

# udev makes it so where udev runs; slirp4netns and pasta need it.
if [ -c /dev/net/tun ]; then
  if [ "$(stat -c %a /dev/net/tun)" = 666 ]; then
    say "/dev/net/tun: open to users"
  elif [ "$(id -u)" = 0 ] && chmod 666 /dev/net/tun; then
    say "/dev/net/tun: opened to users"
  else
    lacks "/dev/net/tun" "not open to users, so no user-mode network"
  fi
else
  lacks "/dev/net/tun" "no user-mode network"
fi

exit "$missing"
