//! Brings values into their canonical form: all resources at once, and each on its own if that fails.

use std::slice;
use std::time::{Duration, Instant};

use devgate_devices::Provider;
use devgate_schemas::Resource;
use devgate_transports::Context;

/// If a call takes longer than this to fail, it is not repeated for each resource.
const QUICK_FAILURE: Duration = Duration::from_secs(10);

/// Brings resources into their provider's canonical form. An invalid one does not affect the others. Returns as many
/// results, in the same order.
pub(super) async fn canonicalize_each(
    ctx: &Context<'_>,
    provider: &mut dyn Provider,
    resources: Vec<Resource>,
) -> Vec<Result<Resource, String>> {
    let mut all = resources.clone();
    let mut began = Instant::now();
    let Err(error) = provider.canonicalize(ctx, &mut all).await else {
        return all.into_iter().map(Ok).collect();
    };
    let mut message = error.to_string();
    let mut is_hopeless = resources.len() == 1 || began.elapsed() > QUICK_FAILURE;
    let mut results = Vec::with_capacity(resources.len());
    for mut resource in resources {
        if is_hopeless {
            results.push(Err(message.clone()));
            continue;
        }
        began = Instant::now();
        let one = slice::from_mut(&mut resource);
        results.push(match provider.canonicalize(ctx, one).await {
            Ok(()) => Ok(resource),
            Err(error) => {
                message = error.to_string();
                is_hopeless = began.elapsed() > QUICK_FAILURE;
                Err(message.clone())
            }
        });
    }
    results
}
