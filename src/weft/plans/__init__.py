"""The frozen nodes that every query becomes, and one way to show them."""
