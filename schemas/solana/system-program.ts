/** Whose the accounts are that no other program has, and those that are not there. */
export const SYSTEM_PROGRAM = '11111111111111111111111111111111';
