<urgent>{
  for $n in /news
  where $n/head/envelope/priority/@level = "urgent"
  return <item edition="{ $n/@edition }">{ $n/body/headline/main }{ $n/body/paragraph[@lead = "yes"] }</item>
}</urgent>
