#!/usr/bin/perl
# The `ps` of macOS as far as cerith asks it: `ps -axo pid=,ppid=,...`. What it tells comes from a /proc that only this
# program knows (the matrix puts its place in for ASIDE): the processes it is run for see none.
use strict;
use warnings;
use POSIX 'strftime';

my ($flags, $list) = @ARGV;
exit 1 unless defined $list && $flags eq '-axo';
my @columns = map { s/=$//r } split /,/, $list;
my $aside = 'ASIDE';
my ($booted) = map { /^btime (\d+)/ ? $1 : () } lines("$aside/stat");

for my $pid (sort { $a <=> $b } map { m{/(\d+)$} } glob "$aside/[0-9]*") {
  my ($text) = lines("$aside/$pid/stat");
  next unless defined $text && $text =~ /^\d+ \((.*)\) (.*)$/s;
  my ($name, @fields) = ($1, split / /, $2);
  my $hundredths = $fields[11] + $fields[12];
  my $state = $fields[0] . ($fields[3] == $pid ? 's' : '') . ($fields[5] == $fields[2] ? '+' : '');
  my $started = $booted + int($fields[19] / 100);
  my %facts = (
    pid => sprintf('%5d', $pid),
    ppid => sprintf('%5d', $fields[1]),
    pgid => sprintf('%5d', $fields[2]),
    stat => sprintf('%-4s', $state),
    rss => sprintf('%6d', $fields[21] * 4),
    time => sprintf('%3d:%02d.%02d', $hundredths / 6000, $hundredths / 100 % 60, $hundredths % 100),
    lstart => strftime('%a %b %e %H:%M:%S %Y', localtime $started),
    ucomm => sprintf('%-16s', substr $name, 0, 16),
  );
  # A column that macOS does not have is an error there.
  print join(' ', map { $facts{$_} // die "ps: $_: keyword not found\n" } @columns), "\n";
}

sub lines {
  open my $file, '<', $_[0] or return;
  return <$file>;
}
