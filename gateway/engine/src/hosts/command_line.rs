//! The command line that runs a task's file on a host: the file itself, an interpreter and the file, or PowerShell.

use std::ffi::OsString;
use std::path::Path;

use devgate_schemas::task::InputMethod;

use super::TaskHostSettings;
use crate::tasks::Implementation;

/// The command for PowerShell, unless an interpreter is configured for `.ps1`.
pub(super) const PWSH: &str = "pwsh";

/// Passes a script its parameters by name, from JSON on stdin, because a command line can be read by everybody.
/// Parameters that the script does not declare are left out, as in Bolt, unless it declares none at all. Texts that
/// look like dates stay texts.
const BY_NAME: &str = "\
$ErrorActionPreference = 'Stop'
$text = @($input) -join \"`n\"
if (-not $text) { $text = [Console]::In.ReadToEnd() }
$how = @{ AsHashtable = $true }
if ((Get-Command ConvertFrom-Json).Parameters.ContainsKey('DateKind')) { $how.DateKind = 'String' }
$given = ConvertFrom-Json -InputObject $text @how
$known = (Get-Command -Name $script).Parameters
$named = @{}
foreach ($name in $given.Keys) { if ($known -and $known.ContainsKey($name)) { $named[$name] = $given[$name] } }
$ErrorActionPreference = 'Continue'
$global:LASTEXITCODE = 0
try { & $script @named } catch { [Console]::Error.WriteLine($_); exit 1 }
exit $LASTEXITCODE
";

/// Returns the words that run an implementation's executable at this path. None is a secret.
pub(super) fn command_line(
    implementation: &Implementation,
    executable: &Path,
    settings: &TaskHostSettings,
) -> Vec<OsString> {
    let extension = executable.extension().unwrap_or_default().to_string_lossy();
    let configured = settings
        .interpreter(&extension)
        .filter(|_| !extension.is_empty());
    let interpreter = match configured {
        Some(words) => words.to_vec(),
        None if is_powershell(implementation) => vec![PWSH.to_owned()],
        None => Vec::new(),
    };
    let mut command_line: Vec<OsString> = interpreter.into_iter().map(OsString::from).collect();
    if is_powershell(implementation) {
        command_line.extend(["-NoProfile", "-NonInteractive"].map(OsString::from));
        if implementation.input_method == InputMethod::Powershell {
            let script = executable.to_string_lossy().replace('\'', "''");
            command_line.push("-Command".into());
            command_line.push(format!("$script = '{script}'\n{BY_NAME}").into());
            return command_line;
        }
        command_line.push("-File".into());
    }
    command_line.push(executable.into());
    command_line
}

/// Whether PowerShell runs an implementation, by its input method or by its extension.
fn is_powershell(implementation: &Implementation) -> bool {
    implementation.input_method == InputMethod::Powershell
        || implementation.file_name().to_lowercase().ends_with(".ps1")
}
