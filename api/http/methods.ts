/** The methods that are answered; each route says which of them it takes. */
export const METHODS = 'GET, POST, OPTIONS';

export const METHOD_NOT_ALLOWED = 'method not allowed; this API answers GET and the three /api/agent/* POSTs';
