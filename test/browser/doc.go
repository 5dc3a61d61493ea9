// Package browser holds the tests of the dashboard in a real browser: whole
// gateways in front of mocks, looked at by Chromium. They wait for what the
// page shows and never for a time. Pictures are kept in the folder artefacts.
//
// It is a module of its own, so that the gateway does not depend on what
// drives the browser.
package browser
