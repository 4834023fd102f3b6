// SPDX-License-Identifier: MIT
pragma solidity 0.8.37;

/// @title IWalletDelegate
/// @notice What a wallet delegates to (EIP-7702) so that it can move tokens of contracts that know no authorizations.
/// @dev It has no storage and nothing to initialise. Every rule is in what the wallet signed.
interface IWalletDelegate {
    /// @notice Thrown when somebody other than the relay calls {execute}.
    error DelegateUnauthorizedRelay(address caller);

    /// @notice Thrown when an execution is not signed by the wallet itself.
    /// @param wallet Who had to sign.
    /// @param signer Who signed, by the signature given; zero if it is malformed.
    /// @param number The request number, as the relay appended it.
    error DelegateInvalidSignature(address wallet, address signer, uint256 number);

    /// @notice Calls a contract in the wallet's name, by the wallet's signature. Only the relay may call; it appends
    /// the request number, which is part of what is signed. If the call reverts, this reverts with the same data.
    /// @param target The contract to call. It must have code.
    /// @param data The calldata.
    /// @param r The first half of the signature over `Execution`.
    /// @param vs The second half (ERC-2098).
    function execute(address target, bytes calldata data, bytes32 r, bytes32 vs) external;

    /// @notice The only account that may deliver an execution.
    function relay() external view returns (address);
}
