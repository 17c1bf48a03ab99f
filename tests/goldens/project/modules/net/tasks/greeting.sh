#!/bin/sh
# What it is given, as it is given.
sed -e 's/"_installdir":"[^"]*"/"_installdir":"DIR"/'
