//! What a proxy sees of the secrets of the devices behind it: nothing.

use std::collections::BTreeSet;
use std::sync::mpsc::{TryRecvError, channel};

use super::*;
use crate::support::process_list::visible_secrets;
use crate::support::run::CANARY;

#[test]
fn no_secret_of_a_device_is_in_the_memory_on_the_disk_or_in_the_process_list_of_its_proxy() {
    let mut site = Site::new();
    let device = Device::lease();
    let netconf = Server::lease("candidate");
    site.proxy("h1", json!({}));
    site.device("router", &device, json!("h1"));
    for kind in kinds(&netconf) {
        let mut info = kind.info;
        info["run-on"] = "h1".into();
        site.project.add_target(kind.name, info);
    }
    let all = "router,switch,dns,netconf,agent";
    let program = "until [ -e done ]; do sleep 0.05; done";
    site.project.write(
        "program.sh",
        &format!("devgate session exec 'show version' >/dev/null; : >open; {program}\n"),
    );
    let (hit, seen) = std::thread::scope(|scope| {
        let (running, ended) = channel::<()>();
        let site = &site;
        let watch = scope.spawn(move || {
            let mut seen = BTreeSet::new();
            while ended.try_recv() == Err(TryRecvError::Empty) {
                seen.extend(secrets_on(site, "h1"));
                pause(Duration::from_millis(2));
            }
            seen
        });
        site.devgate(&format!("verify -t {all}")).succeeded();
        let facts = site.devgate(&format!("facts -t {all} --format json"));
        assert_eq!(facts.succeeded().json()["target_count"], 5);
        // While a session is open: the proxy sees only what is encrypted between this node and the device.
        let session = site.start("session run -t router -- sh program.sh");
        while !site.project.path().join("open").exists() {
            pause(Duration::from_millis(20));
        }
        let processes = site.processes("h1");
        assert!(processes.len() > 2, "{processes:?}");
        let hit = processes
            .into_iter()
            .find(|pid| memory_contains(pid, device.password().as_bytes()));
        fs::write(site.project.path().join("done"), "").expect("it can be written");
        session.finish().succeeded();
        drop(running);
        (hit, watch.join().expect("the watch does not panic"))
    });
    assert_eq!(hit, None, "a process of the proxy holds the password");
    assert!(seen.is_empty(), "{seen:?}");
}

/// Returns the files of a host and the lines of its process list that contain a secret now.
fn secrets_on(site: &Site, host: &str) -> Vec<String> {
    let processes = site.processes(host).into_iter();
    let mut found: Vec<String> = processes
        .flat_map(|pid| visible_secrets(&Path::new("/proc").join(pid)))
        .collect();
    let mut open = ["home", "tmp", "log", "run"]
        .map(|folder| site.folder_of(host).join(folder))
        .to_vec();
    while let Some(folder) = open.pop() {
        for entry in fs::read_dir(&folder).into_iter().flatten().flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if fs::read(&path)
                .is_ok_and(|bytes| String::from_utf8_lossy(&bytes).contains(CANARY))
            {
                found.push(path.display().to_string());
            }
        }
    }
    found
}

/// Whether the memory of a process contains these bytes.
fn memory_contains(pid: &str, wanted: &[u8]) -> bool {
    use std::os::unix::fs::FileExt;
    let maps = fs::read_to_string(format!("/proc/{pid}/maps")).unwrap_or_default();
    let Ok(memory) = fs::File::open(format!("/proc/{pid}/mem")) else {
        return false;
    };
    let ranges = maps.lines().filter_map(|line| {
        let (range, rest) = line.split_once(' ')?;
        let (from, until) = range.split_once('-')?;
        let number = |text| u64::from_str_radix(text, 16).ok();
        let is_writable = rest.starts_with("rw");
        is_writable.then_some((number(from)?, number(until)?))
    });
    ranges.into_iter().any(|(from, until)| {
        let mut bytes = vec![0; usize::try_from(until - from).expect("it is in memory")];
        let read = memory.read_at(&mut bytes, from).unwrap_or_default();
        bytes[..read]
            .windows(wanted.len())
            .any(|window| window == wanted)
    })
}
