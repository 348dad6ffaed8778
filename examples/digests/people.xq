<people>{
  for $n in /news, $p in $n/body//person
  where $p/family
  return <person>{ $p/@key }{ $p/given/text(), " ", $p/family/text() }, in { $n/body/dateline/place/city/text() }</person>
}</people>
