// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title RejectingReceiver
/// @notice A contract without receiver hooks. Safe mints and transfers to it fail.
contract RejectingReceiver {
    /// @notice Gives the contract some code.
    function ping() external pure returns (bool) {
        return true;
    }
}
