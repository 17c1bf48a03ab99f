# frozen_string_literal: true

# Does what it is told to do wrong.
class Puppet::Provider::ShelfAwkward::ShelfAwkward
  def get(context)
    context.transport.data['awkward'].map { |name, how| { name: name, how: how } }
  end

  def set(context, changes)
    changes.each do |name, change|
      wrong(context, name, change[:should][:how])
      context.transport.change { |data| data['awkward'][name] = change[:should][:how] }
    end
  end

  private

  # With a child that does not let go.
  def lets_go_slowly(context)
    trap(:TERM, 'IGNORE')
    context.transport.log("child #{fork { sleep }}")
    trap(:TERM, 'DEFAULT')
    sleep
  ensure
    20.times do
      context.transport.log('still here')
      sleep 0.02
    end
  end

  def wrong(context, name, how)
    case how
    when 'raises' then {}.fetch(:key)
    when 'fails in a block' then context.updating(name) { raise 'it is stuck' }
    when 'says that it failed' then context.failed(name, message: 'no room left')
    when 'gives up' then context.failing([name], message: 'Giving up') { context.warning('no way') }
    when 'fails with another' then context.updating('nobody') { raise 'it was another' }
    when 'leaves' then exit 3
    when 'leaves at once' then exit! 3
    when 'sleeps'
      context.transport.log("child #{Process.pid}")
      trap(:TERM, 'IGNORE')
      sleep
    when 'lets go slowly'
      lets_go_slowly(context)
    when 'speaks of another' then context.notice('nobody', 'is here')
    when 'says much'
      puts '{"id": 1, "results": {}}'
      warn 'to people'
      Puppet.warning('through Puppet')
      context.err(name, "bytes \xFF".b)
      context.err([name], message: "by k\u00e9yword".encode('UTF-16LE'))
      context.attribute_changed(name, 'how', nil, 5, message: "made \xFF".b)
      context.updated([name], message: 'Made better')
      context.updated(name, message: 5)
    when 'leaves a thread' then Thread.new { loop { sleep 0.01; context.info('still here') } }
    end
  end
end
