/** Programs that transactions of the local chain name beside the bankroll program, base58. */
export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
export const TOKEN_PROGRAM = 'TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA';
export const TOKEN_2022_PROGRAM = 'TokenzQdBNbLqP5VEhdkAS6EPFLC1PHnBqCXEpPxuEb';
export const COMPUTE_BUDGET_PROGRAM = 'ComputeBudget111111111111111111111111111111';
export const ED25519_PROGRAM = 'Ed25519SigVerify111111111111111111111111111';
export const BPF_LOADER = 'BPFLoaderUpgradeab1e11111111111111111111111';
/** The LaunchLab program and the pooled-liquidity program it graduates to. */
export const LAUNCHPAD_PROGRAM = 'LanMV9sAd7wArD4vJFi2qDdfnVhFxYSUg6eADduJ3uj';
export const AMM_PROGRAM = 'CPMMoo8L3F4NbTegBCKVNunggL7H1ZpdTHKxQB5qKP1C';
/** Made-up programs: one calls the bankroll program, one prints lines and events that look like its own. */
export const ROUTER_PROGRAM = 'EGPV3ySgBEV6xb1cnMq9TtzgF3xaAjStt4rtM9mayi6r';
export const NOISE_PROGRAM = 'CYmLZvguc2Fcb6GLanYJDFyWCWPWAx2FV6uJEdEzbabN';
