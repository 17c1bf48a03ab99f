# frozen_string_literal: true

module Puppet::Transport
  # A crate.
  class Crate
    def initialize(context, connection_info)
      context.notice('somebody knocks')
      @password = connection_info[:password]
      raise ArgumentError, 'it is nailed shut' if @password.unwrap == 'nails-canary'
    end

    def facts(_context)
      raise Puppet::ResourceError, 'it stays shut' unless @password.unwrap == 'crate-canary'

      { 'operatingsystem' => 'Crate' }
    end
  end
end
