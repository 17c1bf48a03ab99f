# frozen_string_literal: true

require 'puppet/resource_api/simple_provider'

# Labels on shelves. It knows only of being asked for one at a time, and leaves its type changed.
class Puppet::Provider::ShelfLabel::ShelfLabel < Puppet::ResourceApi::SimpleProvider
  def get(context, names)
    context.transport.log("get #{names.to_json}")
    labels = labels(context.transport.data, context).slice(*names.first(1))
    labels.lazy.map { |name, text| { name: name, ensure: 'present', text: text } }
  end

  def create(context, name, should)
    context.transport.change { |data| labels(data, context)[name] = should[:text] }
    context.type.definition[:place] = "labels/#{name}"
  end

  alias update create

  private

  def labels(data, context)
    data[context.type.definition[:place]] ||= {}
  end
end
