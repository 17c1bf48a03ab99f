# frozen_string_literal: true

# Places on shelves.
class Puppet::Provider::ShelfSlot::Shelf
  def get(context)
    context.transport.data['slots'].map do |title, slot|
      row, place = title.split('/')
      { title: title, row: row, place: place, width: slot['width'], colour: slot['colour'] }
    end
  end

  def set(context, changes, noop: false)
    context.transport.log("set #{changes.values.to_json} noop: #{noop}")
    changes.each do |name, change|
      next if noop

      title = "#{name[:row]}/#{name[:place]}"
      context.processing(title, change[:is], change[:should]) do
        context.notice('is moved')
        slot = change[:should].reject { |key, _| [:row, :place].include?(key) }
        context.transport.change { |data| data['slots'][title] = slot }
      end
    end
  end

  def insync?(context, name, property, is, should)
    context.debug("#{name[:row]} #{name[:place]}: looks at #{property}")
    return unless property == :width

    short = should[:width] - (is[:width] || 0)
    short.abs <= 5 ? true : [false, "#{short} mm are missing"]
  end
end
