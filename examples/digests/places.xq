<places>{
  for $p in /news/head/coverage/place
  where $p/country and not($p/country/@code = "NO")
  order by $p/country
  return <place>{ $p/country/@code }{ $p/city/text() }</place>
}</places>
