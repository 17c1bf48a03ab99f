# frozen_string_literal: true

require 'puppet/resource_api/simple_provider'

# Books, one by one.
class Puppet::Provider::ShelfBook::ShelfBook < Puppet::ResourceApi::SimpleProvider
  def canonicalize(_context, resources)
    resources.each { |resource| resource[:author] = resource[:author].strip if resource[:author] }
  end

  def get(context, names)
    context.transport.log("get #{names.to_json}")
    books = context.transport.data['books']
    books = books.slice(*names) unless names.nil? || names.empty?
    books.map do |name, book|
      context.debug(name, 'found')
      row = { name: name, ensure: :present, lent: false }.merge(book.transform_keys(&:to_sym))
      row[:code] = sensitive.new(row[:code]) if row[:code]
      row
    end
  end

  def set(context, changes)
    context.transport.log("set #{changes.values.to_json}")
    super
  end

  def create(context, name, should)
    raise "code of #{name} is no secret" if should[:code] && !should[:code].is_a?(sensitive)

    context.transport.change { |data| data['books'][name] = held(should) }
  end

  def update(context, name, should)
    raise 'the cover is torn' if should[:author] == 'torn'

    context.attribute_changed(name, 'author', 'unknown', should[:author], message: 'as the cover says')
    context.transport.change { |data| data['books'][name].merge!(held(should)) }
  end

  def delete(context, name)
    context.transport.change { |data| data['books'].delete(name) }
  end

  private

  def sensitive
    Puppet::Pops::Types::PSensitiveType::Sensitive
  end

  def held(should)
    kept = should.reject { |key, _| [:name, :ensure].include?(key) }
    kept.transform_values { |value| value.is_a?(sensitive) ? value.unwrap : value }
  end
end
