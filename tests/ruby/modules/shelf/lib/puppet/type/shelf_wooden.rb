# frozen_string_literal: true

Puppet::Type.newtype(:shelf_wooden) do
  newparam(:name)
end
