// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title RequestNumber
/// @notice Reads the request number that the relay put behind the calldata. Only meaningful when the caller is the
/// relay.
library RequestNumber {
    /// @dev The relay refuses data shorter than a selector and always appends 32 bytes, so the last word is always its
    /// own.
    function fromCalldata() internal pure returns (uint256) {
        return uint256(bytes32(msg.data[msg.data.length - 32:]));
    }
}
