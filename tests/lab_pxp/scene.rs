//! A router, a project with targets for it, and an agent with devgate among its modules.

use std::cell::Cell;
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use serde_json::{Value, json};
use tempfile::TempDir;

use crate::support::lab::Device;
use crate::support::project::Project;
use crate::support::pxp_agent::{Agent, Response};

const BINARY: &str = env!("CARGO_BIN_EXE_devgate");

/// The modules: a link, a script with options and no configuration, and a link whose configuration has the inventory.
pub(super) const MODULES: [&str; 3] = ["gateway", "script", "inline"];

/// A router, a project with targets for it, and an agent with devgate among its modules.
pub(super) struct Scene {
    pub(super) device: Device,
    pub(super) project: Project,
    pub(super) agent: Agent,
    /// The folder of the agent's modules.
    pub(super) modules: TempDir,
    transactions: Cell<u32>,
}

impl Scene {
    pub(super) fn new() -> Self {
        let device = Device::lease();
        let mut project = Project::with(&device);
        let wrong = json!({ "password": "a-wrong-canary-pass" });
        project.add("stranger", &device, wrong);
        project.write("modules/lab/tasks/hostname.json", r#"{ "remote": true }"#);
        let ask =
            format!("#!/bin/sh\n{BINARY} session exec show running-config | grep ^hostname\n");
        project.write("modules/lab/tasks/hostname.sh", &ask);
        project.write("modules/lab/tasks/stay.json", r#"{ "remote": true }"#);
        let start_file = project.path().join("begun");
        let stay = format!(
            "#!/bin/sh\nsleep 600 &\necho $! >{}\nwait\n",
            start_file.display()
        );
        project.write("modules/lab/tasks/stay.sh", &stay);

        let root = project.path().to_owned();
        // pxp-agent runs the file that a symbolic link leads to. So these are hard links, in the file
        // system of the binary.
        let beside = Path::new(BINARY).parent().expect("a file is in a folder");
        let modules = tempfile::tempdir_in(beside).expect("a temporary folder can be made");
        for link in ["gateway", "inline"] {
            fs::hard_link(BINARY, modules.path().join(link)).expect("a link can be made");
        }
        let script = format!(
            "#!/bin/sh\nexec {BINARY} --project {} --log-level trace pxp serve \"$@\"\n",
            root.display()
        );
        let file = modules.path().join("script");
        fs::write(&file, script)
            .and_then(|()| fs::set_permissions(&file, fs::Permissions::from_mode(0o755)))
            .expect("it is ours");
        let limits = json!({ "time": 60 });
        let configuration = json!({ "project": root, "limits": limits });
        project.write("conf/gateway.conf", &configuration.to_string());
        let inventory = fs::read_to_string(root.join("inventory.yaml")).expect("it was written");
        let inventory: Value = serde_json::from_str(&inventory).expect("it is JSON, too");
        let modulepath = root.join("modules");
        let configuration =
            json!({ "inventory": inventory, "modulepath": modulepath, "limits": limits });
        project.write("conf/inline.conf", &configuration.to_string());
        let folder = |name: &str| root.join(name);
        let agent = Agent::start(modules.path(), &folder("conf"), &folder("spool"));
        assert!(agent.failed.is_empty(), "{:?}", agent.failed);
        Self {
            device,
            project,
            agent,
            modules,
            transactions: Cell::new(0),
        }
    }

    pub(super) fn transaction(&self) -> String {
        self.transactions.set(self.transactions.get() + 1);
        self.transactions.get().to_string()
    }

    /// Runs a module's action in both ways, one after the other.
    #[track_caller]
    pub(super) fn both(&self, module: &str, action: &str, input: &Value) -> [Response; 2] {
        let streams = self.agent.run(module, action, input).expect("it is run");
        [streams, self.in_files(module, action, input)]
    }

    #[track_caller]
    pub(super) fn in_files(&self, module: &str, action: &str, input: &Value) -> Response {
        let transaction = self.transaction();
        let response = self.agent.run_in_files(module, action, input, &transaction);
        let response = response.expect("its files are written");
        response.assert_file_order();
        response
    }

    pub(super) fn config(&self) -> String {
        self.device.vtysh("show running-config")
    }
}
