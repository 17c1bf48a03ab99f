# frozen_string_literal: true

module Devgate
  # A target behind its transport, and all that is asked of it.
  class Target
    def initialize(modules)
      @modules = modules
      @kinds = Hash.new { |kinds, name| kinds[name] = Kind.new(modules.type(name)) }
    end

    def answer(action, input)
      connect(input['_target'])
      { 'results' => public_send(action, input) }
    rescue *FAILURES => e
      { 'error' => { 'msg' => Devgate.failure(e) } }
    end

    def close
      @transport.close(context) if @transport.respond_to?(:close)
    end

    # Puppet never verifies, so some transports cannot: those that reach for their device when they are first
    # asked something show with its facts that it takes the credentials.
    def verify(_input)
      @transport.respond_to?(:verify) ? @transport.verify(context) : @transport.facts(context)
      {}
    end

    def facts(_input)
      { 'facts' => Plain.shown(@transport.facts(context)) }
    end

    def get(input)
      { 'resources' => @kinds[input['type']].get(input['names']) }
    end

    def set(input)
      kind = @kinds[input['type']]
      input['changes'].each { |change| kind.set(change, input['noop']) }
      {}
    end

    def canonicalize(input)
      { 'resources' => @kinds[input['type']].canonicalize(input['resources']) }
    end

    def insync(input)
      @kinds[input['type']].insync(*input.values_at('name', 'property', 'is', 'should'))
    end

    private

    # It is the current device before any of its types is loaded. Who was refused once does not try again: too
    # many wrong passwords lock an account.
    def connect(target)
      raise @refused if @refused
      return if @transport

      name = @modules.transport
      Puppet[:certname] = target['name'].downcase
      # Other keys are the runtime's.
      attributes = @modules.schema.attributes
      info = Plain.symbolized(target).select { |key, value| attributes.key?(key) && !value.nil? }
      transport = Puppet::ResourceApi::Transport.connect(name, info)
      Puppet::ResourceApi::Transport.inject_device(name, transport)
      @transport = transport
    rescue *FAILURES => e
      @refused = e
      raise
    end

    def context
      Puppet::ResourceApi::PuppetContext.new(@modules.schema)
    end
  end

  # A type, and its provider for the current device.
  class Kind
    def initialize(type)
      @type = type.type_definition
      @provider = type.my_provider
      @context = Context.new(@type)
    end

    def get(names)
      rows =
        if !@type.feature?('simple_get_filter') then ask(:get)
        elsif names then named(names.map { |name| called(name) })
        else ask(:get, all)
        end
      resources('get', rows)
    end

    # One change at a time, as the gem does it: what a provider raises is the failure of that resource.
    def set(change, noop)
      title, name = change['title'], called(change['name'])
      @context.titles = { title => title, name => title }
      @context.reset_failed
      asked = { name => { is: is(change['is'], name), should: resource(change['should']) } }
      @type.feature?('supports_noop') ? ask(:set, asked, noop: noop) : ask(:set, asked)
      @context.failed(title, message: 'Execution encountered an error') if @context.failed? && !@context.told_failure
    rescue *FAILURES => e
      @context.failed(title, message: Devgate.failure(e))
    ensure
      @context.titles = nil
    end

    def canonicalize(resources)
      resources = resources.map { |resource| resource(resource) }
      resources('canonicalize', ask(:canonicalize, resources))
    end

    def insync(name, property, is, should)
      sides = [is, should].map { |side| resource(side) }
      in_sync, message = ask(:insync?, called(name), property.to_sym, *sides)
      unless [nil, true, false].include?(in_sync)
        raise "insync? of `#{property}` gave a #{in_sync.class}: expected true, false or nil, and perhaps a message"
      end

      { 'in_sync' => in_sync, 'message' => (Plain.text(message.to_s) if in_sync == false && message) }
    end

    private

    # Asks the provider. What it leaves in its type's definition would mislead the next call: it is undone.
    def ask(action, *args, **options)
      definition = @type.definition.dup
      options.empty? ? @provider.public_send(action, @context, *args) : @provider.public_send(action, @context, *args, **options)
    ensure
      @type.definition.replace(definition)
    end

    # The gem asks for one at a time, so some providers look only at the first: what was left out is asked for
    # by itself.
    def named(names)
      rows = hashes('get', ask(:get, names))
      return rows if names.one?

      left_out = names - rows.map { |row| identity(row) }
      alone = left_out.flat_map { |name| hashes('get', ask(:get, [name])) }
      (rows + alone).uniq { |row| identity(row) }
    end

    def identity(row)
      namevars = @type.namevars
      namevars.one? ? row[namevars.first] : row.slice(*namevars)
    end

    # What identifies a resource: a value, or a hash of several namevars.
    def called(name)
      name.is_a?(Hash) ? Plain.symbolized(name) : name
    end

    # What the gem passes where all are wanted: an empty list at first, nil since.
    def all
      Gem::Version.new(Puppet::ResourceApi::VERSION) > Gem::Version.new('1.8.16') ? nil : []
    end

    def is(resource, name)
      return resource(resource) if resource

      absent = name.is_a?(Hash) ? name.dup : { title: name }
      @type.ensurable? ? absent.merge(ensure: :absent) : absent
    end

    # A resource as providers take it: what its type wants to be Sensitive is that again.
    def resource(resource)
      Plain.symbolized(resource).to_h { |key, value| [key, wants_secret?(key, value) ? secret(value) : value] }
    end

    def wants_secret?(key, value)
      type = @type.attributes.dig(key, :type).to_s
      return false unless type.include?('Sensitive')

      @data_types ||= {}
      @data_types[key] ||= Puppet::ResourceApi::DataTypeHandling.parse_puppet_type(key, type)
      @data_types[key].instance?(secret(value))
    end

    def secret(value)
      Plain::Sensitive.new(value)
    end

    def resources(action, rows)
      hashes(action, rows).map { |row| Plain.data(row) }
    end

    def hashes(action, rows)
      # A Hash is enumerable, too.
      list = rows.to_a if rows.is_a?(Enumerable) && !rows.is_a?(Hash)
      return list if list&.all?(Hash)

      raise "#{action} of `#{@type.name}` gave a #{rows.class}: expected an Array of Hashes"
    end
  end
end
