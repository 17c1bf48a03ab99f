# frozen_string_literal: true

require 'puppet/resource_api/transport/wrapper'
require 'puppet/transport/schema/pdns'

# What `puppet device` asks for: the transport under the name of its time.
module Puppet::Util::NetworkDevice::Pdns
  class Device < Puppet::ResourceApi::Transport::Wrapper
    def initialize(url_or_config, _options = {})
      super('pdns', url_or_config)
    end
  end
end
