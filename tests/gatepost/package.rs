//! The Debian package: made by the command that the README names, installed by dpkg, upgraded and removed in a system
//! of its own, an overlay on this one that nobody else sees and that ends with the test.

use std::process::Command;

/// What happens within that system, as a script: root there is root of nothing else.
const STEPS: &str = r#"
set -eu
WORK="$WORK/system"
mkdir "$WORK"
mount -t tmpfs none "$WORK"
mkdir "$WORK/upper" "$WORK/work" "$WORK/root"
mount -t overlay none -o lowerdir=/,upperdir="$WORK/upper",workdir="$WORK/work" "$WORK/root"
cp "$PACKAGE" "$WORK/root/gatepost.deb"
mount --bind /dev "$WORK/root/dev"
mount -t proc none "$WORK/root/proc"
# Nothing is to be started by the package's scripts: no systemd runs here.
mkdir -p "$WORK/root/usr/sbin"
printf '#!/bin/sh\nexit 101\n' > "$WORK/root/usr/sbin/policy-rc.d"
chmod 755 "$WORK/root/usr/sbin/policy-rc.d"
ip link set lo up
exec chroot "$WORK/root" sh -eu -c '
    # What the package needs beside the program is in every Debian; dpkg itself asks.
    dpkg --install --force-depends gatepost.deb
    test "$(stat -c "%U %a" /var/lib/gatepost)" = "gatepost 700"
    service=/usr/lib/systemd/system/gatepost.service
    test -e $service || service=/lib/systemd/system/gatepost.service
    test -e /usr/lib/systemd/system/gatepost.service.d/package.conf
    systemd-analyze verify $service 2>&1 | tee /verified
    if grep -E "gatepost.*(Unknown|not executable|Failed)" /verified; then exit 1; fi
    test -e /etc/systemd/system/multi-user.target.wants/gatepost.service

    # As the service has it: its user, its folder, its command.
    command=$(sed -n "s/^ExecStart=\(.\+\)/\1/p" /usr/lib/systemd/system/gatepost.service.d/package.conf)
    serve() {
        # What the one before said is not what this one says.
        rm -f /said
        setpriv --reuid gatepost --regid gatepost --clear-groups env GATEPOST_DB=/var/lib/gatepost/gatepost.db \
            $command --no-mdns --listen 127.0.0.1:0 --json > /said &
        server=$!
        until test -s /said; do kill -0 $server; sleep 0.1; done
        gatepost check --db /var/lib/gatepost/gatepost.db
        kill $server
        wait $server
    }
    serve
    gatepost user add op@example.org --password-stdin --admin --db /var/lib/gatepost/gatepost.db <<P
correct horse battery staple
P
    test "$(stat -c %U /var/lib/gatepost/gatepost.db)" = gatepost

    # The same again, as an upgrade does; then away with it, and the data is still there.
    dpkg --install --force-depends gatepost.deb
    serve
    gatepost user list --db /var/lib/gatepost/gatepost.db | grep op@example.org
    dpkg --purge --force-depends gatepost 2>&1 | tee /purged
    grep "is left for you to delete" /purged
    test ! -e /usr/bin/gatepost
    test -s /var/lib/gatepost/gatepost.db
'
"#;

#[test]
fn the_debian_package_installs_serves_upgrades_and_leaves_the_data() {
    let target = std::env::var("CARGO_TARGET_DIR").unwrap_or_else(|_| "target".into());
    let folder = tempfile::tempdir().expect("a folder");
    let package = folder.path().join("gatepost.deb");
    let tool = std::path::absolute(&target)
        .expect("a folder")
        .join("cargo-deb/bin/cargo-deb");
    let built = std::path::absolute(&target)
        .expect("a folder")
        .join("debug");
    // The program under test, as `cargo deb` packs the released one.
    let made = Command::new(&tool)
        .args([
            "deb",
            "--no-build",
            "--no-strip",
            "--fast",
            "--profile",
            "dev",
            "--output",
        ])
        .arg(&package)
        .output();
    let made =
        made.unwrap_or_else(|cause| panic!("{}: {cause}; tests/run installs it", tool.display()));
    assert!(made.status.success(), "{made:?} of {}", built.display());
    let tried = Command::new("unshare")
        .args(["--mount", "--net", "--pid", "--fork", "sh", "-c", STEPS])
        .env("PACKAGE", &package)
        .env("WORK", folder.path())
        .output()
        .expect("unshare");
    let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
    assert!(
        tried.status.success(),
        "{}\n{}",
        said(&tried.stdout),
        said(&tried.stderr)
    );
}
