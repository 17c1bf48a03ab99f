# frozen_string_literal: true

Puppet::ResourceApi.register_type(
  name: 'shelf_torn',
