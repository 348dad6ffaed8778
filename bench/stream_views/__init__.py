"""Headers that let servers skip parsing (View Selection for Stream Processing, figure 1): time by header size."""
