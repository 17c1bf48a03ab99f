//! Families that are data.

use devgate_core::failure::Failure;
use devgate_devices::Family as Declared;
use devgate_engine::registry;
use devgate_front::command_context::CommandContext;

/// The declared families of these names, or all that are valid.
pub(super) async fn declared_families<'s>(
    context: &'s CommandContext,
    names: &[String],
) -> Result<Vec<&'s Declared>, Failure> {
    if names.is_empty() {
        context.read_all_schemas().await?;
        let families = context.workspace.registry.valid_families()?;
        return Ok(families.filter_map(registry::Family::declared).collect());
    }
    for name in names {
        context.read_schema(name).await?;
    }
    names.iter().map(|name| declared(context, name)).collect()
}

/// The declared part of a family, which can be tried without a device. Programs cannot.
pub(crate) fn declared<'s>(
    context: &'s CommandContext,
    name: &str,
) -> Result<&'s Declared, Failure> {
    context.workspace.registry.family(name)?.declared().ok_or_else(|| {
        let message = format!(
            "family `{name}` consists of programs: only families that are declared as data have test cases, and facts \
             without a device"
        );
        Failure::new("devgate/no-cases", message)
    })
}
