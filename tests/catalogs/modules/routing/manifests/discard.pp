# A prefix that nobody here has.
define routing::discard (Integer $distance) {
  frr_static_route { "${title} via Null0": distance => $distance }
}
