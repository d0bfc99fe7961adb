"""The way in: what people say and press in channels, until it is committed once or refused.

`channel_intake` is the door for every channel. Behind it `conversing` takes words, `rulings`
buttons, forms and links, `orders` what is asked of the gateway itself, `returns` what came back;
each ends in `taking`, one commit under one key. What words mean (`words`, `replying`,
`withdrawing`, `regretting`) and who may (`entitlement`, `standing`) is decided purely. What comes
over HTTP from programs goes to `gateway.control` directly.
"""
