# frozen_string_literal: true

# Records, all changes of a zone in one request.
class Puppet::Provider::PdnsRecord::Pdns
  def canonicalize(_context, resources)
    resources.each do |resource|
      [:fqdn, :zone].each do |key|
        resource[key] = "#{resource[key].chomp('.')}.".downcase if resource[key]
      end
    end
  end

  # A name is looked for in the zones that it can be in.
  def get(context, names = [])
    zones = context.transport.get('/zones')
    unless names.nil? || names.empty?
      zones = zones.select { |zone| names.any? { |name| inside?(name[:fqdn], zone['name']) } }
    end
    zones.flat_map { |zone| records(context, zone) }
  end

  def insync?(_context, _name, attribute, is, should)
    return unless attribute == :content && is[:content] && should[:content]

    missing = should[:content] - is[:content]
    surplus = is[:content] - should[:content]
    return true if missing.empty? && surplus.empty?

    [false, "content: #{missing.sort.join(', ')} in place of #{surplus.sort.join(', ')}"]
  end

  def set(context, changes)
    changes.group_by { |_name, change| (change[:should] || change[:is])[:zone] }.each do |zone, group|
      rrsets = group.map { |name, change| rrset(name, change[:should]) }
      context.transport.patch(path(zone), { rrsets: rrsets })
      group.each { |name, change| context.processed(title(name), change[:is], change[:should]) }
    end
  end

  private

  # A zone that was removed since all were listed has none.
  def records(context, zone)
    rrsets = context.transport.get(path(zone['name']))['rrsets'].reject { |rrset| rrset['type'] == 'SOA' }
    rrsets.map do |rrset|
      record = {
        fqdn: rrset['name'],
        rrtype: rrset['type'],
        ensure: 'present',
        zone: zone['name'],
        content: rrset['records'].map { |one| one['content'] },
        ttl: rrset['ttl'],
      }
      record.merge(title: title(record))
    end
  rescue Puppet::Transport::Pdns::Missing
    []
  end

  def rrset(name, should)
    change = { name: name[:fqdn], type: name[:rrtype] }
    return change.merge(changetype: 'DELETE') if should.nil? || should[:ensure].to_s == 'absent'

    records = should[:content].map { |content| { content: content, disabled: false } }
    change.merge(changetype: 'REPLACE', ttl: should[:ttl], records: records)
  end

  def title(record)
    "#{record[:fqdn]} #{record[:rrtype]}"
  end

  def inside?(name, zone)
    name == zone || name.end_with?(".#{zone}")
  end

  # The API writes a slash in a zone's name as `=2F`.
  def path(zone)
    "/zones/#{zone.gsub('/', '=2F')}"
  end
end
