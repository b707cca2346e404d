/** Sources of figures that several answers name. */
export const ROUTED_SOURCE = 'indexer:Routed events';
export const SWEPT_SOURCE = 'indexer:ProfitSwept events';
export const BUYBACK_SOURCE = 'indexer:BuybackBurned events';
export const ATTESTED_SOURCE = 'chain:VenueAccount.remote_equity';
export const CONFIG_SOURCE = 'chain:ProtocolConfig account';
export const POLLER_SOURCE = 'venue poller';
