/** The `cerith` program. */
console.log('cerith')
