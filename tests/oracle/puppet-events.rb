# What Puppet reads in reports of its own kind: `ruby tests/oracle/puppet-events.rb FILE...` prints, for each file, a
# line of JSON with the report's status and what it says of each resource. The order is of no account.
require 'json'
require 'puppet'
require 'puppet/transaction/report'

EVENT = [:property, :previous_value, :desired_value, :status].freeze
STATUS = [:resource_type, :changed, :out_of_sync, :failed, :skipped].freeze

ARGV.each do |path|
  report = Puppet::Util::Yaml.safe_load(File.read(path), [Puppet::Transaction::Report])
  resources = report.resource_statuses.values.map do |status|
    events = status.events.map do |event|
      # Whether a change undoes somebody else's, Puppet knows from earlier runs.
      EVENT.map { |key| event.public_send(key) } << event.message.delete_suffix(' (corrective)')
    end
    STATUS.map { |key| [key, status.public_send(key)] }.to_h.merge(events: events.sort_by(&:to_s))
  end
  # Puppet's own, which no device has.
  resources.reject! { |resource| ['Schedule', 'Filebucket'].include?(resource[:resource_type]) }
  puts JSON.generate(status: report.status, resources: resources.sort_by(&:to_s))
end
