# frozen_string_literal: true

require 'puppet/resource_api/simple_provider'

# Zones, one request for each change.
class Puppet::Provider::PdnsZone::PdnsZone < Puppet::ResourceApi::SimpleProvider
  def canonicalize(_context, resources)
    resources.each do |resource|
      resource[:name] = "#{resource[:name].chomp('.')}.".downcase if resource[:name]
    end
  end

  def get(context)
    context.transport.get('/zones').map do |zone|
      {
        name: zone['name'],
        ensure: 'present',
        kind: zone['kind'],
        account: zone['account'],
        serial: zone['serial'],
      }
    end
  end

  def create(context, name, should)
    context.transport.post('/zones', {
      name: name,
      kind: should[:kind],
      account: should[:account].to_s,
      nameservers: should[:nameservers] || [],
    })
  end

  def update(context, name, should)
    context.transport.put(path(name), { kind: should[:kind], account: should[:account] }.compact)
  end

  def delete(context, name)
    context.transport.delete(path(name))
  end

  private

  # The API writes a slash in a zone's name as `=2F`.
  def path(name)
    "/zones/#{name.gsub('/', '=2F')}"
  end
end
