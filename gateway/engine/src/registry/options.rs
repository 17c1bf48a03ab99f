//! The options of transports, as an inventory needs to know them.

use async_trait::async_trait;

use super::Registry;
use crate::inventory::TransportOptions;

#[async_trait(?Send)]
impl TransportOptions for Registry {
    async fn prepare(&self, transport: &str) {
        self.load_descriptions([transport]).await;
    }

    fn has_option(&self, transport: &str, name: &str) -> bool {
        let transport = self.find_transport(transport).ok().flatten();
        transport.is_some_and(|connect| connect.schema().connection_info().contains_key(name))
    }
}
