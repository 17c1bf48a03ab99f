# frozen_string_literal: true

require 'json'

module Puppet::Transport
  # A shelf. Beside its file is one of what it was asked.
  class Shelf
    def initialize(context, connection_info)
      puts 'this is not JSON'
      system('echo nor is this')
      @info = connection_info
      raise ArgumentError, "no Sensitive: #{password.class}" unless password.is_a?(Puppet::Pops::Types::PSensitiveType::Sensitive)
      raise Puppet::ResourceError, "the lock refuses #{password.unwrap}" unless password.unwrap == data['password']

      log("open #{password}")
      context.notice("unlocked with #{password.unwrap}")
    end

    def verify(context)
      log('verify')
      sleep @info[:slow] if @info[:slow]
      context.debug('is there')
    end

    def facts(_context)
      log('facts')
      {
        'operatingsystem' => 'Shelf', 'books' => data['books'].size, rows: @info[:rows], kind: :wooden,
        'wide' => 0.0 / 0.0, 'label' => "caf\xE9".b, 'motto' => "caf\u00e9".b, 'bought' => Time.at(0).utc,
        'lock' => password
      }
    end

    def close(_context)
      log('close')
    end

    def data
      JSON.parse(File.read(@info[:file]))
    end

    def change
      changed = data
      yield changed
      File.write(@info[:file], JSON.generate(changed))
    end

    def log(line)
      File.write("#{@info[:file]}.log", "#{line}\n", mode: 'a')
    end

    private

    def password
      @info[:password]
    end
  end
end
