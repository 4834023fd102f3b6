// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title RejectingReceiver
/// @notice A contract without receiver hooks: safe mints and transfers to it fail.
contract RejectingReceiver {
    /// @notice Something to have code for.
    function ping() external pure returns (bool) {
        return true;
    }
}
