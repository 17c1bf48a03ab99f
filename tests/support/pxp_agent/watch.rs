//! The events of a folder, as the kernel reports them: none is missed between two reads.

use std::path::Path;

use nix::sys::inotify::{AddWatchFlags, InitFlags, Inotify};

pub(crate) struct Watch(Inotify);

impl Watch {
    pub(crate) fn new(folder: &Path) -> Self {
        let inotify = Inotify::init(InitFlags::IN_NONBLOCK).expect("the kernel can watch folders");
        let events =
            AddWatchFlags::IN_CREATE | AddWatchFlags::IN_MODIFY | AddWatchFlags::IN_MOVED_TO;
        inotify
            .add_watch(folder, events)
            .expect("the folder can be watched");
        Self(inotify)
    }

    /// Returns all events so far: `create NAME`, `write NAME` and `rename NAME`, with the file's new name.
    pub(crate) fn events(&self) -> Vec<String> {
        let mut found = Vec::new();
        while let Ok(events) = self.0.read_events() {
            for event in events {
                let verb = match event.mask {
                    mask if mask.contains(AddWatchFlags::IN_MOVED_TO) => "rename",
                    mask if mask.contains(AddWatchFlags::IN_CREATE) => "create",
                    _ => "write",
                };
                let name = event.name.unwrap_or_default();
                found.push(format!("{verb} {}", name.display()));
            }
        }
        found
    }
}
