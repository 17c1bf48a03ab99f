# frozen_string_literal: true

require 'puppet/resource_api/transport/wrapper'

module Puppet::Util::NetworkDevice::Shelf
  # What `puppet device` needs.
  class Device < Puppet::ResourceApi::Transport::Wrapper
    def initialize(url_or_config, _options = {})
      super('shelf', url_or_config)
    end
  end
end
