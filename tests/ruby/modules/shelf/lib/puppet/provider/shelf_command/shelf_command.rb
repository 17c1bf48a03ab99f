# frozen_string_literal: true

# Commands. What it gets is nothing that it could canonicalize.
class Puppet::Provider::ShelfCommand::ShelfCommand
  def get(context)
    [{ name: 'default' }] + context.device.data['done'].map { |name, command| { name: name, command: command } }
  end

  def canonicalize(_context, resources)
    resources.each { |resource| resource[:command].strip! }
  end

  def set(context, changes)
    changes.each do |name, change|
      context.updating(name) { context.device.change { |data| data['done'][name] = change[:should][:command] } }
    end
  end
end
