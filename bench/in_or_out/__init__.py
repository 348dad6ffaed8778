"""In or out: what is retrieved in the scan and what navigated to, chosen by cost for one query on a stream."""
