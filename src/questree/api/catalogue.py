"""Kinds of raw files and of exports by name; plugins add to them."""

from questree.formats.catalogue import EXPORTERS as EXPORTERS
from questree.formats.catalogue import Exporter as Exporter
from questree.sources.catalogue import SOURCES as SOURCES
from questree.sources.catalogue import Source as Source
from questree.sources.catalogue import kind_of as kind_of
