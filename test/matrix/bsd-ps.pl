#!/usr/bin/perl
# Prints what `ps -axo pid=,ppid=...` of macOS does, out of a /proc that is mounted on /private.
my @columns = map { s/=$//r } split /,/, $ARGV[1];
my $boot = 0;
open(my $stat, '<', '/private/stat');
while (<$stat>) { $boot = $1 if /^btime (\d+)/ }
opendir(my $all, '/private');
for my $pid (sort { $a <=> $b } grep { /^\d+$/ } readdir $all) {
  open(my $file, '<', "/private/$pid/stat") or next;
  my $text = <$file> // next;
  my ($name, $rest) = $text =~ /\((.*)\) (.*)/s;
  my @fields = split / /, $rest;
  my $cpu = ($fields[11] + $fields[12]) / 100;
  my %row = (
    pid => $pid, ppid => $fields[1], pgid => $fields[2], stat => "$fields[0]s", rss => $fields[21] * 4, ucomm => $name,
    lstart => scalar localtime($boot + int($fields[19] / 100)),
    time => sprintf('%d:%05.2f', $cpu / 60, $cpu - 60 * int($cpu / 60)),
  );
  print join(' ', map { sprintf '%5s', $row{$_} } @columns), "    \n";
}
