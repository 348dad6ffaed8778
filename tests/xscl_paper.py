"""The documents of the paper on joins: figures 1 and 2."""

BOOK = """<book><publisher>Wrox</publisher><author>Danny Ayers</author><author>Andrew Watt</author>
<title>Beginning RSS and Atom Programming</title><category>Scripting &amp; Programming</category>
<category>Web Site Development</category></book>"""
BLOG = """<blog><url>http://example.com</url><author>Danny Ayers</author>
<title>Beginning RSS and Atom Programming</title><category>Book Announcement</category>
<category>Scripting &amp; Programming</category></blog>"""
