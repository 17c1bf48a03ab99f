# frozen_string_literal: true

# Errands, of which nothing can be seen: who runs one need not run it again where its book is there.
class Puppet::Provider::ShelfErrand::ShelfErrand
  def get(_context)
    []
  end

  def canonicalize(context, resources)
    resources.each do |resource|
      resource.delete(:command) if context.transport.data['books'].key?(resource[:unless])
    end
  end

  def set(context, changes)
    changes.each do |name, change|
      command = change[:should].fetch(:command)
      context.updating(name) do
        context.transport.change { |data| data['books'][command] = {} } unless command == 'nothing'
      end
    end
  end
end
